/** Browser sessions in the API. */
import { Type } from 'typebox';
import { SCOPES } from '../../../core/access/scopes.ts';
import { nullable, oneOf, strict } from '../../../schema/build.ts';

export const Session = strict(
  {
    auth: oneOf(['none', 'key'], '`none`: there are no API keys and no OpenID Connect, so no sign-in is needed.'),
    signed_in: Type.Boolean({
      description: 'True with a key or a session cookie, and always if no sign-in is needed.',
    }),
    tenant: nullable(
      Type.String({ description: 'The tenant of this request. Null: it is not signed in, or is of the operator.' }),
    ),
    user: nullable(
      Type.String({
        description: 'Who signed in with OpenID Connect: the issuer, `#` and the subject. Null with a key.',
      }),
    ),
    scopes: Type.Array(oneOf([...SCOPES, 'operator']), {
      description:
        'What this request may do. Empty, if it is not signed in. `operator`, alone: with the admin key. An API without keys allows that, too, and does not name it.',
    }),
    oidc: nullable(
      strict(
        { name: Type.String({ description: 'The provider, as the sign-in page names it.' }) },
        { description: 'Browsers can sign in at `/api/session/oidc`. Null: OpenID Connect is not set up.' },
      ),
    ),
  },
  { $id: 'Session' },
);

export const BeginSession = strict(
  { key: Type.String({ minLength: 1, maxLength: 1_000, description: 'The API key of a tenant, or the admin key.' }) },
  { $id: 'BeginSession' },
);
