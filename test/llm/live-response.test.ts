import { describe, expect, test } from 'vitest';
import { LiveResponse } from '../../src/llm/wire/http/live-response.ts';

function setUp() {
  const flow: string[] = [];
  const response = new LiveResponse(200, new Headers(), {
    pause: () => void flow.push('pause'),
    resume: () => void flow.push('resume'),
  });
  return { response, flow };
}

const bytes = (count: number): Uint8Array => new Uint8Array(count);

describe('a live response', () => {
  test('returns chunks in order, and then its end', async () => {
    const { response } = setUp();
    response.take(bytes(1));
    response.take(bytes(2));
    response.takeEnd();
    expect(await response.read()).toEqual({ kind: 'chunk', bytes: bytes(1) });
    expect(await response.read()).toEqual({ kind: 'chunk', bytes: bytes(2) });
    expect(await response.read()).toEqual({ kind: 'end' });
    expect(await response.read()).toEqual({ kind: 'end' });
  });

  test('a waiting reader gets the next chunk', async () => {
    const { response } = setUp();
    const first = response.read();
    response.take(bytes(3));
    expect(await first).toEqual({ kind: 'chunk', bytes: bytes(3) });
    const second = response.read();
    response.takeEnd();
    expect(await second).toEqual({ kind: 'end' });
  });

  test('chunks before the failure are read, then the error', async () => {
    const { response } = setUp();
    const error = new Error('broken');
    response.take(bytes(1));
    response.takeError(error);
    response.takeEnd();
    expect((await response.read()).kind).toBe('chunk');
    expect(await response.read()).toEqual({ kind: 'threw', error });
    expect(await response.read()).toEqual({ kind: 'threw', error });
  });

  test('its text is of all chunks, also where a character is split across two; a broken one has none', async () => {
    const { response } = setUp();
    const owl = new TextEncoder().encode('a 🦉');
    response.take(owl.subarray(0, 4));
    response.take(owl.subarray(4));
    response.takeEnd();
    expect(await response.text()).toBe('a 🦉');
    const broken = setUp().response;
    broken.takeError(new Error('broken'));
    await expect(broken.text()).rejects.toThrow('broken');
  });

  test('the network pauses while much is unread, and continues once that was read', async () => {
    const { response, flow } = setUp();
    response.take(bytes(40_000));
    expect(flow).toEqual([]);
    response.take(bytes(40_000));
    expect(flow).toEqual(['pause']);
    await response.read();
    expect(flow).toEqual(['pause', 'resume']);
    await response.read();
    expect(flow).toEqual(['pause', 'resume']);
  });
});
