/**
 * Parses server-sent events from bytes as they arrive. Comments and pings produce no event or an ordinary one; the
 * timeout is handled by `watch.ts`. An event cut off by the end of the stream is still returned: its data shows
 * whether it is complete.
 */
export type SseEvent = { name: string; data: string };

type SseReader = {
  push(chunk: Uint8Array): SseEvent[];
  /** The rest when the bytes end. */
  end(): SseEvent[];
};

export function createSseReader(): SseReader {
  const decoder = new TextDecoder();
  /** Text without a line end so far. Kept in pieces, so that one long line is joined only once. */
  let pending: string[] = [];
  let name = '';
  let data: string[] = [];

  function takeLine(line: string, events: SseEvent[]): void {
    if (line === '') {
      if (data.length > 0) events.push({ name, data: data.join('\n') });
      name = '';
      data = [];
      return;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') data.push(value);
    else if (field === 'event') name = value;
  }

  function takeText(text: string, ended: boolean): SseEvent[] {
    const events: SseEvent[] = [];
    if (!ended && !/[\r\n]/.test(text)) {
      pending.push(text);
      return events;
    }
    const whole = pending.join('') + text;
    // A carriage return at the very end may be half of a line end.
    const held = !ended && whole.endsWith('\r') ? 1 : 0;
    const lines = whole.slice(0, whole.length - held).split(/\r\n|\n|\r/);
    pending = [(lines.pop() ?? '') + whole.slice(whole.length - held)];
    for (const line of lines) takeLine(line, events);
    return events;
  }

  return {
    push: (chunk) => takeText(decoder.decode(chunk, { stream: true }), false),
    end: () => {
      const events = takeText(decoder.decode(), true);
      for (const line of pending) if (line !== '') takeLine(line, events);
      pending = [];
      takeLine('', events);
      return events;
    },
  };
}
