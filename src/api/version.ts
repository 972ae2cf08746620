/** The version of a worker's settings as an ETag, and what an `If-Match` asks of it. */

export function toEtag(version: number): string {
  return `"${version}"`;
}

/** Whether `version` is one of those that the header names. Weak tags count: what they compare is the same. */
export function isMatch(ifMatch: string | undefined, version: number): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return ifMatch
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .includes(toEtag(version));
}
