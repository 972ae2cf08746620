/** Thrown while a request is written, caught where it is prepared: this provider has no way to be told `what`. */
export class Unsupported extends Error {
  constructor(what: string) {
    super(`it cannot be sent ${what}`);
  }
}
