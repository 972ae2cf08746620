/** The version of a worker's settings as ETag, and its comparison with `If-Match`. */
import type { FastifyReply } from 'fastify';

/** A body and its ETag. Both are stored under the idempotency key. */
export type Tagged<Body> = { body: Body; etag: string };

export function withVersion<Body>(body: Body, version: number): Tagged<Body> {
  return { body, etag: toEtag(version) };
}

/** Sets the header, and returns the body. */
export function tagged<Body>(reply: FastifyReply, { body, etag }: Tagged<Body>): Body {
  reply.header('etag', etag);
  return body;
}

function toEtag(version: number): string {
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
