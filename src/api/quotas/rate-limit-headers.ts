/**
 * The headers `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10): lists of structured fields,
 * with one item for each limit, which has the name of the limit.
 */
import type { FastifyReply } from 'fastify';
import { WINDOW_S, type LimitName, type LimitPrefix } from '../../core/access/quotas.ts';

/** `left`: what may still be used. `endsInMs`: until when it counts; null: as long as it is used. */
type Shown = {
  name: `${LimitPrefix}${LimitName}`;
  most: number;
  left: number;
  endsInMs: number | null;
};

export function showLimits(reply: FastifyReply, { name, most, left, endsInMs }: Shown): void {
  const unit = endsInMs === null ? ';qu="concurrent-requests"' : `;w=${WINDOW_S}`;
  const reset = endsInMs === null ? '' : `;t=${Math.ceil(endsInMs / 1_000)}`;
  add(reply, 'ratelimit-policy', `"${name}";q=${most}${unit}`);
  add(reply, 'ratelimit', `"${name}";r=${left}${reset}`);
}

function add(reply: FastifyReply, header: string, item: string): void {
  const before = reply.getHeader(header);
  reply.header(header, before === undefined ? item : `${String(before)}, ${item}`);
}
