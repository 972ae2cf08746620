/**
 * Runs a transactional tool: its function, and then the end of its call, in one transaction. A result that is an error rolls
 * back, as an exception does.
 */
import type { ToolInvocation, ToolOutcome } from '../../core/tools/tool.ts';
import type { CallTransaction } from '../../core/tools/transaction.ts';
import type { TransactionalContext } from '../registry/tool-context.ts';
import type { TransactionalTool } from '../registry/tool.ts';
import type { ToolResult } from '../run/result.ts';

/** `limitMs`: of the call. `converted`: what the tool returned; throws `Inexpressible`. */
type Performed = {
  tool: TransactionalTool;
  call: ToolInvocation;
  context: Omit<TransactionalContext, 'tx'>;
  limitMs: number;
  converted: (returned: unknown) => ToolResult;
};

/** `open`: set while the transaction may still commit. */
export function performIn(
  transaction: CallTransaction,
  { tool, call, context, limitMs, converted }: Performed,
  open: { isOpen: boolean },
): (input: unknown) => Promise<ToolOutcome> {
  return async (input) => {
    open.isOpen = true;
    try {
      const settled = await transaction.run(
        async (tx) => {
          const result = converted(await tool.execute(input, { ...context, tx }, call));
          if (result.is_error) throw new RolledBack(result);
          const { content, compact_summary } = result;
          return compact_summary === undefined ? { content } : { content, compact_summary };
        },
        { signal: context.signal, limitMs },
      );
      return settled === null ? { kind: 'aborted' } : { kind: 'result', ...settled, is_error: false, settled: true };
    } catch (error) {
      if (error instanceof RolledBack) return error.result;
      throw error;
    } finally {
      open.isOpen = false;
    }
  };
}

/** The tool returned an error. */
class RolledBack extends Error {
  override name = 'RolledBack';
  readonly result: ToolResult;

  constructor(result: ToolResult) {
    super('The tool returned an error.');
    this.result = result;
  }
}
