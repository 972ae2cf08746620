// A receiver of webhooks on this machine. It answers as a test says, and checks each signature with the library.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export type Received = {
  id: string;
  type: string;
  seq: number | null;
  jobId: string | null;
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
  text: string;
  headers: Record<string, string>;
  /** By the library, with the secret of the receiver. */
  isSigned: boolean;
};

export type Behaviour = (received: Received, response: ServerResponse, before: number) => void;

export type Receiver = {
  url: string;
  received: Received[];
  /** Requests that were neither answered nor cut off yet. */
  open: number;
  secret: string;
  behave(behaviour: Behaviour): void;
  close(): Promise<void>;
};

export const accepts: Behaviour = (_, response) => void response.writeHead(204).end();

export const answers =
  (status: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (_, response) =>
    void response.writeHead(status, headers).end(body);

/** `certificate`: for https. */
export async function startReceiver(certificate?: { key: string; cert: string }): Promise<Receiver> {
  let behaviour = accepts;
  const receiver: Receiver = {
    url: '',
    received: [],
    open: 0,
    secret: '',
    behave: (next) => void (behaviour = next),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    receiver.open += 1;
    response.once('close', () => (receiver.open -= 1));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const text = Buffer.concat(chunks).toString();
    const received = toReceived(text, request.headers as Record<string, string>, receiver.secret);
    const before = receiver.received.filter(({ id }) => id === received.id).length;
    receiver.received.push(received);
    behaviour(received, response, before);
  };
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void handle(request, response).catch(() => response.destroy());
  const server = certificate === undefined ? createServer(listener) : createSecureServer(certificate, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  receiver.url = `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}/hook`;
  return receiver;
}

function toReceived(text: string, headers: Record<string, string>, secret: string): Received {
  const body = JSON.parse(text);
  return {
    id: headers['webhook-id'] ?? '',
    type: body.type,
    seq: body.data.seq ?? null,
    jobId: body.data.job_id ?? null,
    body,
    text,
    headers,
    isSigned: isSigned(text, headers, secret),
  };
}

export function isSigned(text: string, headers: Record<string, string>, secret: string): boolean {
  try {
    new Webhook(secret).verify(text, headers);
    return true;
  } catch {
    return false;
  }
}
