/** An error for tools of the config file. For other errors, model and tenant see only a reference. */
const MARK = Symbol.for('nightshift.tool_error');

/** What an error tells beside its message. */
export type ToolErrorOptions = {
  /** In lower case and `_`, such as `order_closed`. See `ToolError`. */
  code?: string | undefined;
  /** For the operator's log at debug; neither model nor tenant sees it. */
  cause?: unknown;
};

/**
 * Fails the call with an error for the model. Message and code are the result of the call, which is stored in the
 * history that the tenant reads: they must contain nothing secret. The call is not repeated.
 *
 * Without a code the result is the text `The tool <name> failed: <message>`. With a code it is the JSON text
 * `{"error": {"code", "message"}}`, the form of the built-in tools: for programs that read results, and for system
 * prompts that name codes. Use lower case and `_` (`order_closed`), at most 100 characters. A message has at most
 * 4,000; the rest is cut off, with a note.
 *
 * @example throw new ToolError('The order A-17 is closed.', { code: 'order_closed' });
 */
export class ToolError extends Error {
  /** The name of the class, also where several copies of the package are loaded. */
  override name = 'ToolError';
  /** The code that the model and programs read; undefined: none. */
  readonly code: string | undefined;
  /** Marks errors of every copy of this package. */
  readonly [MARK] = true;

  constructor(message: string, { code, ...options }: ToolErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

/** Also true for errors of another copy of this package. */
export function isToolError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && MARK in thrown;
}
