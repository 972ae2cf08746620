/**
 * What a tool of the operator's throws to be read: its message is told to the model, and stands in the history that the tenant reads.
 * Of anything else that a tool throws both are told a reference only; the operator finds it in the log.
 */
const MARK = Symbol.for('nightshift.tool_error');

export class ToolError extends Error {
  override name = 'ToolError';
  readonly [MARK] = true;
}

/** Also one of another copy of this package. */
export function isToolError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && MARK in thrown;
}
