/** Reads out what was said once it is whole: letters that come one by one would be noise. */
import { useEffect, useRef, useState } from 'react';
import type { Message } from 'nightshift/client';
import { textOf } from '../../data/format.ts';
import css from './hidden.module.css';

const LONGEST = 300;

export function Announcer({ messages, isAtEnd }: { messages: readonly Message[]; isAtEnd: boolean }) {
  const heard = useRef<string | null>(null);
  const [said, setSaid] = useState('');
  const last = isAtEnd ? messages.findLast(({ role }) => role === 'assistant') : undefined;
  useEffect(() => {
    if (last === undefined || heard.current === last.id) return;
    // What stands there when the page is opened is read by whoever goes there.
    if (heard.current !== null) setSaid(`Assistant: ${textOf(last).slice(0, LONGEST)}`);
    heard.current = last.id;
  }, [last]);
  return (
    <div className={css.hidden} role="status">
      {said}
    </div>
  );
}
