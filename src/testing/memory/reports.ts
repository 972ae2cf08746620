/** What the tools of a run log and report, kept as the product keeps it. */
import type { JsonObject } from '../../core/json.ts';
import type { EntryLevel, OpenReport } from '../../core/tools/report.ts';
import type { ToolInvocation } from '../../core/tools/tool.ts';
import { fieldsOf, messageOf, progressOf } from '../../tools/run/reported.ts';

/** An entry of the log of a call. */
export type ReportedEntry = {
  /** The name of the tool. */
  tool: string;
  /** From `debug` to `error`. */
  level: EntryLevel;
  /** The text, as far as it is kept. */
  message: string;
  /** Its data; null: it has none. */
  fields: JsonObject | null;
};

/** A progress report of a call. */
export type ReportedProgress = {
  /** The name of the tool. */
  tool: string;
  /** What it did; null: not given. */
  message: string | null;
  /** How much of `total` was done; null: not given. */
  done: number | null;
  /** How much there was to do; null: not given. */
  total: number | null;
};

export class Reports {
  readonly log: ReportedEntry[] = [];
  readonly progress: ReportedProgress[] = [];

  open({ name: tool }: Pick<ToolInvocation, 'name'>): OpenReport {
    return {
      log: (level, message, fields) => {
        this.log.push({ tool, level, message: messageOf(message), fields: fieldsOf(fields).fields });
      },
      progress: (given) => {
        const progress = progressOf(given);
        if (progress !== null) this.progress.push({ tool, ...progress });
      },
      end: () => undefined,
    };
  }
}
