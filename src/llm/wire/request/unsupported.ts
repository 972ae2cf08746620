/** Thrown while a request is built and caught in `createModel`: this provider does not accept `what`. */
export class Unsupported extends Error {
  constructor(what: string) {
    super(`this provider does not accept ${what}.`);
  }
}
