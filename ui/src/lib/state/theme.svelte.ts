import { recall, remember } from "$lib/model/memory";

const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** Light or dark: as the system has it, or as the user chose. */
class ThemeChoice {
  now = $state<Theme>(THEMES.find((theme) => theme === recall("theme")) ?? "system");

  constructor() {
    this.#set();
  }

  /** Goes on to the next of system, light and dark. */
  next(): void {
    this.now = THEMES[(THEMES.indexOf(this.now) + 1) % THEMES.length]!;
    remember("theme", this.now === "system" ? null : this.now);
    this.#set();
  }

  #set(): void {
    if (this.now === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.now;
  }
}

export const theme = new ThemeChoice();
