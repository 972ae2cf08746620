/** One entry of the log of a tool. `of`: the call that wrote it, where entries of several calls are shown. */
import type { LogEntry } from 'nightshift/client';
import type { ReactNode } from 'react';
import type { Place } from '../ui/layout/long-list.tsx';
import { Time } from '../ui/text/time.tsx';
import css from './call-log.module.css';

type Props = { place: Place; entry: LogEntry; of?: ReactNode };

export function LogLine({ place, entry: { at, level, message, fields }, of }: Props) {
  return (
    <li {...place} data-level={level}>
      <Time at={at} as="clock" />
      <span className={css.level}>{level}</span>
      {of !== undefined && <span className={css.of}>{of}</span>}
      <span className={css.message}>
        {message}
        {fields !== null && <code> {JSON.stringify(fields)}</code>}
      </span>
    </li>
  );
}
