/** How an error that ends a server command is printed. */

/** Errors whose message is printed without a stack trace. Compared by name, so that their modules need not be loaded. */
const FOR_PEOPLE = ['ConfigError', 'ConfigFileError', 'ServiceError', 'DatabaseRefused'];

export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return FOR_PEOPLE.includes(error.name) ? error.message : (error.stack ?? error.message);
}
