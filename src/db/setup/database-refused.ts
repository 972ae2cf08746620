/** The database cannot be used as it is. The message tells the operator what to do. */
export class DatabaseRefused extends Error {
  override name = 'DatabaseRefused';
}
