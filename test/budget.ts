// Prints how long each group of tests took, beside its budget on two cores. A group over its budget should be made
// faster; it fails nothing, since the machine may have been busy.
import type { Reporter, TestModule } from 'vitest/node';

/** In seconds. `setup`: until the first test file begins. */
const BUDGETS: Readonly<Record<string, number>> = {
  setup: 45,
  unit: 60,
  services: 180,
  e2e: 120,
  console: 75,
};

/** Projects that are one group. */
const GROUPS: Readonly<Record<string, string>> = { core: 'unit', dev: 'unit' };

type Span = { from: number; to: number; files: number };

export default class Budget implements Reporter {
  #began = 0;
  readonly #spans = new Map<string, Span>();

  onTestRunStart(): void {
    this.#began = performance.now();
    this.#spans.clear();
  }

  onTestModuleStart(module: TestModule): void {
    const now = performance.now();
    if (this.#spans.size === 0) this.#spans.set('setup', { from: this.#began, to: now, files: 0 });
    const span = this.#spanOf(module, now);
    span.files += 1;
  }

  onTestModuleEnd(module: TestModule): void {
    const now = performance.now();
    this.#spanOf(module, now).to = now;
  }

  onTestRunEnd(): void {
    const lines = [...this.#spans].map(([group, { from, to, files }]) => {
      const budget = BUDGETS[group];
      const took = (to - from) / 1_000;
      const over = budget !== undefined && took > budget ? '  OVER BUDGET' : '';
      const allowed = budget === undefined ? '' : ` of ${String(budget).padStart(3)} s`;
      return `  ${group.padEnd(9)} ${took.toFixed(0).padStart(4)} s${allowed}${files > 0 ? `, ${files} files` : ''}${over}`;
    });
    process.stdout.write(`\nTime by group:\n${lines.join('\n')}\n`);
  }

  #spanOf({ project }: TestModule, now: number): Span {
    const group = GROUPS[project.name] ?? project.name;
    const known = this.#spans.get(group) ?? { from: now, to: now, files: 0 };
    this.#spans.set(group, known);
    return known;
  }
}
