/** What is wrong with the use of the test kit. A job that fails is no such error: its result says so. */

/**
 * `invalid_config`: the config, the tool or an answer of the model is not valid. `unknown_role`, `unknown_tool`: the
 * config, or the run, has none of that name. `unavailable`: the role or the tool needs something that a test does not have, such as an
 * MCP server, or a transaction. `invalid_recording`: it is no export of a context, or one that cannot be replayed. `invalid`: an approval has
 * an input that does not match the schema of the tool.
 */
export type TestKitCode =
  | 'invalid_config'
  | 'unknown_role'
  | 'unknown_tool'
  | 'unavailable'
  | 'invalid_recording'
  | 'invalid';

/** Thrown by the functions of `nightshift/testing`: before anything runs, except for `invalid`, and for a key of `models` that no worker has. */
export class TestKitError extends Error {
  /** The name of the class, also where several copies of the package are loaded. */
  override name = 'TestKitError';
  /** What went wrong. */
  readonly code: TestKitCode;

  constructor(code: TestKitCode, message: string) {
    super(message);
    this.code = code;
  }
}
