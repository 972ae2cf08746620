// A failing network between the platform and a service: open connections go silent permanently, without a message to
// either side, while new ones work; or are cut; or all traffic is delayed for a while and arrives late.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export type SilentProxy = {
  url: string;
  /** From now on nothing passes on any connection that is open. */
  silence(): void;
  /** Every connection that is open breaks. */
  cut(): void;
  /** Nothing passes, on open or new connections, until `flow`: then all of it does, late. */
  delay(): void;
  flow(): void;
  close(): Promise<void>;
};

/** In front of the service at `url`. */
export async function startSilentProxy(url: string): Promise<SilentProxy> {
  const target = new URL(url);
  const pairs = new Set<[Socket, Socket]>();
  const silent = new Set<[Socket, Socket]>();
  let delayed = false;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    if (delayed) for (const socket of pair) socket.pause();
    else join(pair);
    for (const socket of pair) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        pairs.delete(pair);
        silent.delete(pair);
        for (const other of pair) other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const proxied = new URL(url);
  proxied.hostname = '127.0.0.1';
  proxied.port = String(address.port);
  return {
    url: proxied.href,
    silence() {
      for (const pair of pairs) {
        part(pair);
        silent.add(pair);
        // Further bytes are dropped, so that the sender notices nothing.
        for (const socket of pair) socket.resume();
      }
    },
    cut() {
      for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy();
    },
    delay() {
      delayed = true;
      for (const pair of pairs) {
        if (silent.has(pair)) continue;
        part(pair);
        for (const socket of pair) socket.pause();
      }
    },
    flow() {
      delayed = false;
      for (const pair of pairs) if (!silent.has(pair)) join(pair);
    },
    async close() {
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function join([near, far]: [Socket, Socket]): void {
  near.pipe(far);
  far.pipe(near);
}

function part([near, far]: [Socket, Socket]): void {
  near.unpipe(far);
  far.unpipe(near);
}
