/** One entry of the log of a tool. `of`: the call that wrote it, where entries of several calls are shown. */
import type { LogEntry } from 'nightshift/client';
import type { ReactNode } from 'react';
import { Time } from '../ui/text/time.tsx';
import css from './call-log.module.css';

type Props = { entry: LogEntry; of?: ReactNode };

export function LogLine({ entry: { at, level, message, fields }, of }: Props) {
  return (
    <li data-level={level}>
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
