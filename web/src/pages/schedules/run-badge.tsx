import type { ScheduleRun } from 'nightshift/client';
import { Badge, type Tone } from '../../ui/text/badge.tsx';
import { schedulesWords } from '../../words.ts';

const TONES: Readonly<Record<ScheduleRun['status'], Tone>> = {
  started: 'green',
  skipped: 'neutral',
  failed: 'red',
  missed: 'amber',
};

export function RunBadge({ status }: { status: ScheduleRun['status'] }) {
  return (
    <Badge tone={TONES[status]} dot="still">
      {schedulesWords.runs.status[status]}
    </Badge>
  );
}
