/** What a process of `nightshift dev` reports to the command that started it. */

export type Ready = {
  kind: 'ready';
  /** The address of the API. */
  url: string;
  /** The config file; null: there is none. */
  configFile: string | null;
  tools: number;
  roles: number;
  /** Providers with a key or an address, without the simulated one. */
  providers: readonly string[];
  defaultModel: string;
};

/** The process ends. */
export type Failed = { kind: 'failed'; message: string };

/**
 * A file that a change of the config can be in: an absolute path. Sent before the file runs, since it may end the process.
 */
export type Loading = { kind: 'loading'; file: string };

export type Report = Loading | Ready | Failed;

const SENDER = 'nightshift dev';

/** Resolves once the report is sent. Does nothing if the receiver is gone. */
export async function sendReport(report: Report): Promise<void> {
  await new Promise<void>((sent) => {
    if (process.send?.({ sender: SENDER, ...report }, () => sent()) === undefined) sent();
  });
}

/** Distinguishes reports from messages of tools and libraries in the same process. */
export function isReport(message: unknown): message is Report {
  return typeof message === 'object' && message !== null && 'sender' in message && message.sender === SENDER;
}
