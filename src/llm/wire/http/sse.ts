/**
 * Server-sent events of a provider from bytes as they arrive, parsed by `eventsource-parser`. Comments and pings produce
 * no event or an ordinary one; the timeout is handled by `watch.ts`. An event cut off by the end of the stream is still
 * returned: its data shows whether it is complete.
 */
import { createParser } from 'eventsource-parser';

export type SseEvent = { name: string; data: string };

type SseReader = {
  push(chunk: Uint8Array): SseEvent[];
  /** The rest when the bytes end. */
  end(): SseEvent[];
  /** An event exceeded the limit: no more can be read. */
  isExceeded(): boolean;
};

/** An event holds at most a whole answer with its images. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

export function createSseReader(mostCharacters = MOST_CHARACTERS): SseReader {
  const decoder = new TextDecoder();
  let events: SseEvent[] = [];
  let exceeded = false;
  const parser = createParser({
    maxBufferSize: mostCharacters,
    onEvent: ({ event: name = '', data }) => void events.push({ name, data }),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') exceeded = true;
    },
  });

  function takeText(text: string): SseEvent[] {
    events = [];
    if (!exceeded) parser.feed(text);
    return events;
  }

  return {
    push: (chunk) => takeText(decoder.decode(chunk, { stream: true })),
    // Ends the last line, then the last event.
    end: () => takeText(`${decoder.decode()}\n\n`),
    isExceeded: () => exceeded,
  };
}
