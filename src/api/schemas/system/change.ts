/** The events of the stream of a tenant. */
import { Type } from 'typebox';
import { CHANGED_RESOURCES } from '../../../core/stream/change.ts';
import { oneOf, strict } from '../../../schema/build.ts';
import { Instant, Uuid, described } from '../common.ts';

export const Changed = strict(
  {
    resource: described(
      oneOf([...CHANGED_RESOURCES, 'all']),
      '`contexts`: also their workers, jobs, messages and approvals. `all`: events may have been lost.',
    ),
    ids: described(Type.Array(Uuid), 'Which ones. Empty: any.'),
    at: described(Instant, 'When it was sent.'),
  },
  { $id: 'ChangedEvent', description: 'Something of this resource may have changed. Has no id.' },
);

export const ChangeStream = Type.String({
  description:
    'Server-Sent Events: `event` is `Changed` or `Heartbeat`, `data` JSON, each in the component `<name>Event`. Clients must ignore unknown names.',
});
