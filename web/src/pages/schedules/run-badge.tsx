import type { ScheduleRun } from 'nightshift/client';
import { Badge, type Tone } from '../../ui/text/badge.tsx';

const SHOWN: Readonly<Record<ScheduleRun['status'], { label: string; tone: Tone }>> = {
  started: { label: 'Started', tone: 'green' },
  skipped: { label: 'Skipped', tone: 'neutral' },
  failed: { label: 'Failed', tone: 'red' },
  missed: { label: 'Missed', tone: 'amber' },
};

export function RunBadge({ status }: { status: ScheduleRun['status'] }) {
  const { label, tone } = SHOWN[status];
  return (
    <Badge tone={tone} dot="still">
      {label}
    </Badge>
  );
}
