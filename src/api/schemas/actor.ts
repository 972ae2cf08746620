/** Who did something, in the API. */
import { Type } from 'typebox';
import { nullable, oneOf, strict } from '../../schema/build.ts';
import { described } from './common.ts';

export const Actor = strict(
  {
    kind: oneOf(['key', 'token', 'session', 'operator', 'system'], 'system: Nightshift itself, without a request.'),
    id: nullable(
      described(
        Type.String(),
        'Of the key (env:…: of the environment) or the token; a session has that of its key. Null: no key was needed.',
      ),
    ),
    user: nullable(described(Type.String(), 'The user of the token.')),
    on_behalf_of: nullable(described(Type.String(), 'The user that a key named; not proved.')),
  },
  { $id: 'Actor' },
);
