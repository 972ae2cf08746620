// What a run waits for: told while it lasts, so that the log of a run that gets stuck says where it stands.

export type Phases = {
  during<T>(what: string, work: Promise<T>): Promise<T>;
  /** The time is up: what is waited for by now is late, and so is everything that begins to be waited for later. */
  stop(): void;
  /** As text. */
  late(): string[];
};

export function openPhases(print: (line: string) => void): Phases {
  const open = new Set<string>();
  const late = new Set<string>();
  let isOver = false;
  return {
    async during(what, work) {
      if (isOver) late.add(what);
      open.add(what);
      print(`waiting for ${what}`);
      try {
        return await work;
      } finally {
        open.delete(what);
      }
    },
    stop() {
      isOver = true;
      for (const what of open) late.add(what);
      print(`the time is up while waiting for ${[...open].join(', ')}`);
    },
    late: () => [...late],
  };
}
