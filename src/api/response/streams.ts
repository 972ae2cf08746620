/** All event streams of this process: their limit, and the timer that sends heartbeats. */
import type { FastifyReply } from 'fastify';
import type { FleetingEvent } from '../../core/stream/stream-event.ts';
import { quotaExceeded, type TenantLimits } from '../../core/access/quotas.ts';
import type { TenantId } from '../../core/ids.ts';
import { createTally } from '../quotas/tally.ts';
import { RequestRefused, refused } from './problem.ts';
import { SseStream, type StreamCounts } from './sse.ts';

const TICK_MS = 1_000;

export type Streams = {
  /** Reserves a place for a stream of the tenant. Throws `RequestRefused` if none is left. */
  take(tenant: { tenantId: TenantId; limits: TenantLimits }): Place;
  /** Those of the tenant that are open. */
  of(tenant: TenantId): number;
  figures(): StreamCounts & { open: number };
  /** Ends all of them. */
  close(): void;
};

export type Place = {
  /** Starts the response. From then on the stream writes it. */
  open(reply: FastifyReply, position: number | null): SseStream;
  /** Must be called in every case. */
  release(): void;
};

export function openStreams(most: number): Streams {
  const streams = new Set<SseStream>();
  const counts: StreamCounts = { sent: 0, dropped: 0 };
  const byTenant = createTally<TenantId>();
  let taken = 0;
  let timer: NodeJS.Timeout | null = null;

  const tick = (): void => {
    const data = { timestamp: new Date().toISOString() };
    const heartbeat: FleetingEvent[] = [{ seq: null, name: 'Heartbeat', data }];
    for (const stream of streams) stream.tick(heartbeat);
  };

  const release = (stream: SseStream | null): void => {
    taken -= 1;
    if (stream !== null) streams.delete(stream);
    if (streams.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  const open = (reply: FastifyReply, position: number | null): SseStream => {
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value);
    }
    reply.hijack();
    const stream = new SseStream(reply.raw, position, counts);
    streams.add(stream);
    timer ??= setInterval(tick, TICK_MS);
    return stream;
  };

  return {
    take({ tenantId, limits }) {
      if (taken >= most)
        throw refused(
          'unavailable',
          `This API process already has ${most} event streams, its limit. Close streams, or raise NIGHTSHIFT_MAX_STREAMS.`,
        );
      const ofTenant = limits.streams ?? Infinity;
      if (byTenant.of(tenantId) >= ofTenant)
        throw new RequestRefused(
          quotaExceeded('streams', `The tenant has ${ofTenant} event streams in this API process, its limit.`),
        );
      taken += 1;
      const end = byTenant.begin(tenantId);
      let stream: SseStream | null = null;
      let released = false;
      return {
        open: (reply, position) => (stream = open(reply, position)),
        release() {
          if (!released) release(stream);
          end();
          released = true;
        },
      };
    },
    of: (tenantId) => byTenant.of(tenantId),
    figures: () => ({ ...counts, open: streams.size }),
    close() {
      for (const stream of streams) stream.end();
    },
  };
}
