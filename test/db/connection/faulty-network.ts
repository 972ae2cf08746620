// A network between the pool and Postgres that fails: connections are reset, closed or end in the middle of a message,
// or go silent; and a server that speaks TLS in front of one that does not.
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { listenLocally } from '../../services/local-server.ts';
import type { Random } from '../interleaving/scheduler.ts';

export type Network = {
  /** Of Postgres, through this network. */
  readonly url: string;
  /** The probability that a passing piece is the last one of its connection. */
  faults: number;
  /** Resets the connection that carries the next request. */
  resetNext(): void;
  /** Nothing passes on open connections any more; new ones work. */
  silence(): void;
  close(): Promise<void>;
};

export async function startNetwork(url: string, random: Random): Promise<Network> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const mute = new Set<Socket>();
  let resets = false;

  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.on('data', (piece: Buffer) => {
        if (mute.has(from)) return;
        if (resets && from === near) {
          resets = false;
          near.resetAndDestroy();
        } else if (random() < network.faults) {
          if (random() < 0.5) to.write(piece.subarray(0, piece.length * random()));
          cut(near, random());
          far.destroy();
        } else {
          to.write(piece);
        }
      });
    }
  });
  const network: Network = {
    url: await listen(server, url),
    faults: 0,
    resetNext: () => {
      resets = true;
    },
    silence: () => {
      for (const socket of sockets) mute.add(socket);
    },
    close: () => close(server, sockets),
  };
  return network;
}

function cut(socket: Socket, how: number): void {
  if (how < 0.4) socket.resetAndDestroy();
  else if (how < 0.7) socket.destroy();
  else socket.end();
}

/** In front of the server at `url`, with a self-signed certificate. */
export async function startTls(url: string): Promise<{ url: string; close(): Promise<void> }> {
  const target = new URL(url);
  const secret = selfSigned();
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    sockets.add(near);
    near.on('error', () => undefined);
    near.on('close', () => sockets.delete(near));
    // The client asks whether it may use TLS.
    near.once('data', () => {
      near.write('S');
      const secured = new TLSSocket(near, { isServer: true, ...secret });
      const far = connect(Number(target.port), target.hostname);
      secured.pipe(far).pipe(secured);
      for (const socket of [secured, far]) {
        socket.on('error', () => undefined);
        socket.on('close', () => {
          secured.destroy();
          far.destroy();
        });
      }
    });
  });
  const secured = new URL(await listen(server, url));
  secured.searchParams.set('sslmode', 'require');
  return { url: secured.href, close: () => close(server, sockets) };
}

/** A server that sends only the results of `answer`, in place of the server at `url`. */
export async function startServer(
  url: string,
  answer: (socket: Socket) => void,
): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    answer(socket);
  });
  return { url: await listen(server, url), close: () => close(server, sockets) };
}

/** `url`, with the address of this server. */
async function listen(server: Server, url: string): Promise<string> {
  const own = new URL(url);
  own.hostname = '127.0.0.1';
  own.port = String(await listenLocally(server));
  return own.href;
}

async function close(server: Server, sockets: Set<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, 'close');
}

/** A minimal certificate: X.509 version 1, with an empty subject and issuer. */
function selfSigned(): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ecdsaWithSha256 = der(0x30, der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const emptyName = der(0x30);
  const always = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')));
  const subject = publicKey.export({ type: 'spki', format: 'der' });
  const body = der(0x30, der(0x02, Buffer.of(1)), ecdsaWithSha256, emptyName, always, emptyName, subject);
  const signature = Buffer.concat([Buffer.of(0), sign('sha256', body, privateKey)]);
  const certificate = der(0x30, body, ecdsaWithSha256, der(0x03, signature));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}

/** An ASN.1 value: tag, length, content. */
function der(kind: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(kind, ...size), content]);
}
