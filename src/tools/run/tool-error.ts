/**
 * An error for tools of the config file. Its message is shown to the model and stored in the history that the tenant
 * reads. For other errors, model and tenant see only a reference; the details are in the operator's log.
 */
const MARK = Symbol.for('nightshift.tool_error');

export class ToolError extends Error {
  override name = 'ToolError';
  readonly [MARK] = true;
}

/** Also true for errors of another copy of this package. */
export function isToolError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && MARK in thrown;
}
