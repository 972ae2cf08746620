/** More is stored than is to be read at once; its content was not read. */
export class ReadLimitExceeded extends Error {
  override name = 'ReadLimitExceeded';
}
