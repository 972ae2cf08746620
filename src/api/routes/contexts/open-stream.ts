/** Opens an event stream for a request: it ends with the client, with the credential of the request, or with the API. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Joined } from '../../../events/subscriber.ts';
import type { AccessControl } from '../../access/access.ts';
import { STREAM_HEADERS } from '../../response/sse.ts';
import type { Place, Streams } from '../../response/streams.ts';
import { whenClosed } from '../../response/when-closed.ts';
import { logRequest } from '../../server/log.ts';

/** `join` throws what refuses the request. */
type Opening = {
  request: FastifyRequest;
  reply: FastifyReply;
  accessControl: AccessControl;
  streams: Streams;
  join: () => Promise<Joined>;
};

export async function openStream(opening: Opening): Promise<void> {
  const { request, reply, streams, join } = opening;
  if (request.method === 'HEAD') {
    (await join()).stop();
    return void reply.headers(STREAM_HEADERS).send('');
  }
  const place = streams.take(request);
  try {
    start(opening, place, await join());
  } catch (error) {
    place.release();
    throw error;
  }
}

function start({ request, reply, accessControl }: Opening, place: Place, joined: Joined): void {
  let forget = (): void => undefined;
  const leave = (): void => {
    forget();
    joined.stop();
    place.release();
  };
  // The client may have disconnected, or the request may have timed out, while this process joined the feed.
  if (reply.sent || reply.raw.destroyed) return leave();
  whenClosed(reply, () => {
    leave();
    logRequest(request, reply);
  });
  const stream = place.open(reply, joined.position);
  forget = accessControl.whileValid(request.credential, () => stream.end());
  joined.start(stream);
}
