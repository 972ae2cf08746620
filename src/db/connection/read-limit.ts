/** The stored content exceeds the read limit, and was not read. */
export class ReadLimitExceeded extends Error {
  override name = 'ReadLimitExceeded';
}
