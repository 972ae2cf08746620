/**
 * What the OpenID provider announces, and with it the configuration of the library. It is read once an hour. ID tokens
 * must be signed with a key that the provider publishes: neither `none` nor an algorithm with the client secret is
 * accepted.
 */
import type { Configuration, ServerMetadata } from 'openid-client';
import type { OidcClient } from '../../config/oidc.ts';
import { isLoopback } from '../../config/loopback.ts';
import type { OidcClientAuth } from '../../core/access/oidc.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { failureOf, type Failure } from './failure.ts';
import { library } from './library.ts';

/** The longest call to the provider, in seconds. */
export const CALL_S = 3;
/** How long an announcement counts, in milliseconds. */
const FRESH_MS = 60 * 60 * 1_000;
/** How long a failure counts, so that a provider that does not answer is not called for each sign-in. */
const RETRY_MS = 5_000;

type Announced = { kind: 'announced'; configuration: Configuration };

/** If the provider does not answer, the last announcement counts. `clientAuth`: null: as the provider announces. */
export function announcementOf(
  client: OidcClient,
  clientAuth: OidcClientAuth | null,
): () => Promise<Announced | Failure> {
  let last: Announced | Failure | null = null;
  let until = 0;
  let asked: Promise<Announced | Failure> | null = null;
  const ask = async (): Promise<Announced | Failure> => {
    const found = await read(client, clientAuth);
    const isNew = found.kind === 'announced';
    if (isNew || last?.kind !== 'announced') last = found;
    until = performance.now() + (isNew ? FRESH_MS : RETRY_MS);
    return last;
  };
  return async () => {
    if (last !== null && performance.now() < until) return last;
    asked ??= ask().finally(() => {
      asked = null;
    });
    return asked;
  };
}

async function read(client: OidcClient, clientAuth: OidcClientAuth | null): Promise<Announced | Failure> {
  try {
    const metadata = await discovered(client);
    // OpenID Connect Discovery 1.0, section 4.3.
    if (metadata.issuer !== client.issuer) return { kind: 'failed', detail: otherIssuer(metadata.issuer, client) };
    const auth = clientAuth ?? clientAuthOf(metadata);
    return { kind: 'announced', configuration: await configurationOf(client, auth, withSafeAlgorithms(metadata)) };
  } catch (error) {
    return failureOf(error);
  }
}

function otherIssuer(announced: string, { issuer }: OidcClient): string {
  return `the provider announces the issuer ${JSON.stringify(announced.slice(0, 256))}, NIGHTSHIFT_OIDC_ISSUER is ${JSON.stringify(issuer)}`;
}

/** By its full address: the library would make exceptions for the issuers of some providers. */
async function discovered({ issuer, clientId }: OidcClient): Promise<Readonly<ServerMetadata>> {
  const { allowInsecureRequests, customFetch, discovery } = await library();
  const address = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const execute = isLocal(issuer) ? [allowInsecureRequests] : [];
  const options = { timeout: CALL_S, execute, [customFetch]: boundedFetch };
  const found = await discovery(address, clientId, undefined, undefined, options);
  return found.serverMetadata();
}

/** The configuration refuses http for any other host. */
function isLocal(issuer: string): boolean {
  const { protocol, hostname } = new URL(issuer);
  return protocol === 'http:' && isLoopback(hostname);
}

/**
 * In the header, id and secret are percent-encoded, which providers decode differently: in the body, if the provider
 * announces that. Without the field, every provider takes the header (OpenID Connect Discovery 1.0, section 3).
 */
function clientAuthOf({ token_endpoint_auth_methods_supported: methods }: Readonly<ServerMetadata>): OidcClientAuth {
  return methods?.includes('client_secret_post') === true ? 'post' : 'basic';
}

async function configurationOf(
  { issuer, clientId, clientSecret }: OidcClient,
  clientAuth: OidcClientAuth,
  metadata: ServerMetadata,
): Promise<Configuration> {
  const { Configuration, ClientSecretBasic, ClientSecretPost, ...further } = await library();
  const authentication = clientAuth === 'post' ? ClientSecretPost : ClientSecretBasic;
  const configuration = new Configuration(metadata, clientId, clientSecret, authentication(clientSecret));
  configuration.timeout = CALL_S;
  configuration[further.customFetch] = boundedFetch;
  if (isLocal(issuer)) further.allowInsecureRequests(configuration);
  further.enableNonRepudiationChecks(configuration);
  return configuration;
}

/** Every provider supports RS256. Without the field, the library accepts only that. */
function withSafeAlgorithms(metadata: Readonly<ServerMetadata>): ServerMetadata {
  const announced = metadata.id_token_signing_alg_values_supported ?? ['RS256'];
  const safe = announced.filter((algorithm) => /^(?:RS|PS|ES)\d{3}$|^Ed(?:DSA|25519)$/.test(algorithm));
  return { ...metadata, id_token_signing_alg_values_supported: safe };
}
