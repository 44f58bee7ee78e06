/** Wakes one sleeper. A wake that comes while nobody sleeps ends the next sleep at once. */
export interface TaskWake {
  wake(): void;
  /** Resolves when woken or after `ms`. Rejects with the signal's reason. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export function createTaskWake(): TaskWake {
  let isWoken = false;
  let rouse: () => void = () => undefined;
  return {
    wake() {
      isWoken = true;
      rouse();
    },
    async sleep(ms, signal) {
      signal.throwIfAborted();
      if (!isWoken)
        await new Promise<void>((resolve) => {
          const end = () => {
            clearTimeout(timer);
            signal.removeEventListener('abort', end);
            resolve();
          };
          const timer = setTimeout(end, ms);
          signal.addEventListener('abort', end, { once: true });
          rouse = end;
        });
      isWoken = false;
      signal.throwIfAborted();
    },
  };
}
