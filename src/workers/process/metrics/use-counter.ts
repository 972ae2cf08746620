/**
 * Counts what tenants use of each tool, until the process stores it (`db/calls/tool-use.ts`). What is counted and not yet
 * stored when a process is killed is lost, so the figures are not exact. What a statement took whose result is unknown is
 * not sent again: no call is counted twice.
 */
import type { TenantId } from '../../../core/ids.ts';
import { KEPT_FAILURES, noUse, placeOf, type EndedUse, type ToolUse } from '../../../core/tools/tool-use.ts';
import type { CountedUse } from '../../../db/calls/tool-use.ts';

/** Tools of one tenant that are counted at once, and codes of one tool. Others are not counted, or have this code. */
const MOST_TOOLS = 200;
const MOST_CODES = 20;
const OTHER = 'other';
/** Rows that one statement stores. The others wait for the next one. */
const MOST_STORED = 1_000;

type Counted = { use: ToolUse; isUsed: boolean };

export class UseCounter {
  readonly #tenants = new Map<TenantId, Map<string, Counted>>();

  /** A call has ended. */
  ended({ id, name, status, code, tenantId, contextId, jobId, at }: EndedUse): void {
    const counted = this.#of(tenantId, name);
    if (counted === null) return;
    const { use } = counted;
    counted.isUsed = true;
    use[status] += 1;
    use.lastAt = Math.max(use.lastAt, at);
    if (status === 'completed') return;
    if (status === 'failed') {
      const known = code in use.codes || Object.keys(use.codes).length < MOST_CODES ? code : OTHER;
      use.codes[known] = (use.codes[known] ?? 0) + 1;
    }
    if (jobId === null) return;
    use.failures.unshift({
      at,
      code: status === 'failed' ? code : status,
      context_id: contextId,
      job_id: jobId,
      tool_call_id: id,
    });
    use.failures.length = Math.min(use.failures.length, KEPT_FAILURES);
  }

  /** A call has run for this long. It is stored with the first call of the tool that ends. */
  took(tenantId: TenantId, name: string, ms: number): void {
    const use = this.#of(tenantId, name)?.use;
    const place = placeOf(ms);
    if (use !== undefined) use.times[place] = (use.times[place] ?? 0) + 1;
  }

  /** What is to be stored now. */
  take(): CountedUse[] {
    const taken: CountedUse[] = [];
    for (const [tenantId, tools] of this.#tenants) {
      for (const [tool, { use, isUsed }] of tools) {
        if (!isUsed || taken.length >= MOST_STORED) continue;
        taken.push({ tenantId, tool, use });
        tools.delete(tool);
      }
      if (tools.size === 0) this.#tenants.delete(tenantId);
    }
    return taken;
  }

  /** Null: too many tools of this tenant are counted already. */
  #of(tenantId: TenantId, name: string): Counted | null {
    const tools = this.#tenants.get(tenantId) ?? new Map<string, Counted>();
    const known = tools.get(name);
    if (known !== undefined) return known;
    if (tools.size >= MOST_TOOLS) return null;
    const counted: Counted = { use: noUse(), isUsed: false };
    tools.set(name, counted);
    this.#tenants.set(tenantId, tools);
    return counted;
  }
}
