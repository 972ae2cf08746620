/**
 * The limits that concern requests, of their tenant and of their API key: how many come in a second, how many are served
 * at once, and for a tenant how large their bodies are. Without limits nothing is counted. Requests in a second are
 * counted over all processes; those that are served at once are counted by each process for itself.
 */
import { Transform, type Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  MEGABYTE,
  NO_LIMITS,
  quotaExceeded,
  type KeyLimits,
  type LimitPrefix,
  type RequestRates,
} from '../../core/access/quotas.ts';
import type { TenantId } from '../../core/ids.ts';
import { RequestRefused } from '../response/problem.ts';
import { whenClosed } from '../response/when-closed.ts';
import type { App } from '../server/ports.ts';
import { showLimits } from './rate-limit-headers.ts';
import { createTally } from './tally.ts';

/** A tenant or an API key, and what it uses. */
type Limited = {
  who: 'tenant' | 'API key';
  /** Of the names of its limits in the headers. */
  prefix: LimitPrefix;
  limits: KeyLimits;
  rateKey: string;
  tally: { served: () => number; begin: () => () => void };
};

export type Quotas = {
  /** Counts a request whose tenant and key are known. Throws `RequestRefused` if it exceeds a limit. */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Requests of the tenant that this process serves now; counted only with a limit. */
  requestsOf(tenant: TenantId): number;
};

export function openQuotas(rates: RequestRates): Quotas {
  const serving = { tenants: createTally<TenantId>(), keys: createTally<string>() };

  async function countRate({ who, prefix, limits, rateKey }: Limited, reply: FastifyReply): Promise<void> {
    const most = limits.requests_per_s;
    if (most === undefined) return;
    const { count, endsInMs } = await rates.count(rateKey);
    showLimits(reply, { name: `${prefix}requests_per_s`, most, left: Math.max(0, most - count), endsInMs });
    if (count > most)
      refuse('requests_per_s', `The ${who} may send ${most} requests in a second. Wait until the next second.`, prefix);
  }

  function countServed({ who, prefix, limits, tally }: Limited, request: FastifyRequest, reply: FastifyReply): void {
    const most = limits.concurrent_requests;
    // Event streams have a limit of their own.
    const isStream = request.routeOptions.config.stream === true && request.method !== 'HEAD';
    if (most === undefined || isStream) return;
    const before = tally.served();
    const name = `${prefix}concurrent_requests` as const;
    showLimits(reply, { name, most, left: Math.max(0, most - before - 1), endsInMs: null });
    if (before >= most)
      refuse(
        'concurrent_requests',
        `The ${who} may have ${most} requests at once in this API process. Wait until one of them ends.`,
        prefix,
      );
    if (!reply.sent) whenClosed(reply, tally.begin());
  }

  /** The key first: what it may not send does not count for the others of its tenant. */
  function limitedOf({ tenantId, limits, key, keyLimits }: FastifyRequest): Limited[] {
    const { tenants, keys } = serving;
    const ofTenant: Limited = {
      who: 'tenant',
      prefix: '',
      limits,
      rateKey: String(tenantId),
      tally: { served: () => tenants.of(tenantId), begin: () => tenants.begin(tenantId) },
    };
    if (key === null || keyLimits === NO_LIMITS) return [ofTenant];
    const { id } = key;
    const tally = { served: () => keys.of(id), begin: () => keys.begin(id) };
    return [{ who: 'API key', prefix: 'key_', limits: keyLimits, rateKey: `key ${id}`, tally }, ofTenant];
  }

  return {
    async admit(request, reply) {
      const isUnlimited = request.limits === NO_LIMITS && request.keyLimits === NO_LIMITS;
      if (isUnlimited || request.routeOptions.config.uncounted === true) return;
      for (const limited of limitedOf(request)) {
        await countRate(limited, reply);
        countServed(limited, request, reply);
      }
      const length = Number(request.headers['content-length'] ?? 0);
      const most = request.limits.upload_mb;
      if (most !== undefined && length > most * MEGABYTE) throw tooLarge(most);
    },
    requestsOf: (tenant) => serving.tenants.of(tenant),
  };
}

/** Bodies whose length is not known before are counted while they are read. */
export function limitUploads(app: App): void {
  app.addHook('preParsing', async ({ limits, headers, method }, _reply, body) => {
    const most = limits.upload_mb;
    // What these methods send is not read.
    const isRead = headers['transfer-encoding'] !== undefined && method !== 'GET' && method !== 'HEAD';
    return most === undefined || !isRead ? body : counted(body, most);
  });
}

function counted(body: Readable, most: number): Readable {
  let length = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      length += chunk.length;
      if (length > most * MEGABYTE) done(tooLarge(most));
      else done(null, chunk);
    },
  });
  // The request may have been refused for another reason before its body ends: then nothing else hears of an error.
  counter.on('error', () => undefined);
  body.once('error', (error) => counter.destroy(error));
  body.once('close', () => {
    if (!body.readableEnded) counter.destroy(new Error('The client disconnected.'));
  });
  return body.pipe(counter);
}

function tooLarge(most: number): RequestRefused {
  return new RequestRefused(
    quotaExceeded(
      'upload_mb',
      `The request body is larger than ${most} MB, the limit of the tenant. Send a smaller body, or ask the operator for a higher limit.`,
    ),
  );
}

function refuse(...what: Parameters<typeof quotaExceeded>): never {
  throw new RequestRefused(quotaExceeded(...what));
}
