/**
 * `invalid_options`: an option, the config, or the options of a handler are not valid. `unavailable`: PostgreSQL does not
 * answer. `not_migrated`: the tables are missing or older. `database_refused`: the database cannot be used. `open_api`: the
 * API would answer anyone. `stopped`: `stop` was called.
 */
export type NightshiftStartCode =
  | 'invalid_options'
  | 'unavailable'
  | 'not_migrated'
  | 'database_refused'
  | 'open_api'
  | 'stopped';

/** Nightshift cannot start in this process. The message says what to do. */
export class NightshiftStartError extends Error {
  /** The name of the class, also where several copies of the package are loaded. */
  override name = 'NightshiftStartError';
  /** What went wrong. */
  readonly code: NightshiftStartCode;
  /** Each fault of the options; otherwise empty. */
  readonly faults: readonly string[];

  constructor(code: NightshiftStartCode, message: string, more: More = {}) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.code = code;
    this.faults = more.faults ?? [];
  }
}

type More = { faults?: readonly string[]; cause?: unknown };

export function stoppedError(): NightshiftStartError {
  return new NightshiftStartError('stopped', 'This instance of Nightshift was stopped. Create another one.');
}

/** Of all faults together. */
export function invalidOptions(what: string, faults: readonly string[]): NightshiftStartError {
  const lines = faults.map((fault) => `\n  ${fault}`).join('');
  return new NightshiftStartError('invalid_options', `${what} is invalid:${lines}`, { faults });
}
