/** What the tools of a run log and report, kept as the product keeps it. */
import type { JsonObject } from '../../core/json.ts';
import type { EntryLevel, OpenReport } from '../../core/tools/report.ts';
import type { ToolInvocation } from '../../core/tools/tool.ts';
import { fieldsOf, messageOf, progressOf } from '../../tools/run/reported.ts';

/** An entry of the log of a call. `fields` null: it has none. */
export type ReportedEntry = { tool: string; level: EntryLevel; message: string; fields: JsonObject | null };

/** A progress report of a call. Null: not given. */
export type ReportedProgress = { tool: string; message: string | null; done: number | null; total: number | null };

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
