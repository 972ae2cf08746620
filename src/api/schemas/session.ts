/** Signing in, for browsers. */
import { Type } from 'typebox';
import { nullable, oneOf, strict } from './common.ts';

export const Session = strict(
  {
    auth: oneOf(['none', 'key'], '`none`: no keys are set here, and nobody needs to sign in.'),
    signed_in: Type.Boolean({ description: 'By a key or a cookie; where none is needed, always.' }),
    tenant: nullable(Type.String({ description: 'Whose data this request would see.' })),
  },
  { $id: 'Session' },
);

export const BeginSession = strict(
  { key: Type.String({ minLength: 1, maxLength: 1_000, description: 'One of NIGHTSHIFT_API_KEYS.' }) },
  { $id: 'BeginSession' },
);
