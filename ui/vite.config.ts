import { svelte } from "@sveltejs/vite-plugin-svelte";
import { svelteTesting } from "@testing-library/svelte/vite";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [svelte(), svelteTesting()],
  resolve: { alias: { $lib: new URL("./src/lib", import.meta.url).pathname } },
  build: {
    // The app's own webviews: WebKitGTK 2.50, the macOS one of the same age, Chromium on Windows.
    target: ["safari17", "chrome120"],
    // The content security policy has no `data:` for fonts, so nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // Nothing here is a measure of time: a busy machine may take as long as it takes.
  test: { environment: "happy-dom", include: ["src/**/*.test.ts"], css: true, testTimeout: 60_000 },
});
