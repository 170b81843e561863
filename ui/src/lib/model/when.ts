/** Calls `run` once, `delay` milliseconds after the last call; `flush` runs what is pending at once. */
export function debounce(run: () => void, delay: number): { (): void; flush: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const fire = () => {
    timer = undefined;
    run();
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(fire, delay);
  };
  later.flush = () => {
    if (timer === undefined) return;
    clearTimeout(timer);
    fire();
  };
  return later;
}
