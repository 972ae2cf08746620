/** The version of a worker's settings as ETag, and its comparison with `If-Match`. */

export function toEtag(version: number): string {
  return `"${version}"`;
}

/** Whether the header names `version`. Weak tags match too: a version has only one representation. */
export function isMatch(ifMatch: string | undefined, version: number): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*') return true;
  return ifMatch
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .includes(toEtag(version));
}
