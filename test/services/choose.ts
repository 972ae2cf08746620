// The services of a test run: those the environment names; else containers, where an engine has the images or can pull
// them; else embedded PostgreSQL with a Redis from PATH. NIGHTSHIFT_TEST_SERVICES forces one of them: `url`,
// `containers`, `embedded`, or `no-redis` (embedded PostgreSQL alone).
import { missingImages, pullImages } from './containers.ts';

export type Choice = { kind: 'url' | 'containers' } | { kind: 'embedded'; redis: boolean; why: string };

export async function chooseServices(
  env: Readonly<Record<string, string | undefined>>,
  say: (line: string) => void,
): Promise<Choice> {
  const forced = env['NIGHTSHIFT_TEST_SERVICES'] || 'auto';
  switch (forced) {
    case 'url':
      if (!env['DATABASE_URL']) throw new Error('NIGHTSHIFT_TEST_SERVICES=url needs a DATABASE_URL');
      return { kind: 'url' };
    case 'containers':
      if (!(await haveImages(say))) throw new Error('no container engine answers, or it lacks the images');
      return { kind: 'containers' };
    case 'embedded':
    case 'no-redis':
      return { kind: 'embedded', redis: forced === 'embedded', why: `NIGHTSHIFT_TEST_SERVICES=${forced}` };
    case 'auto':
      if (env['DATABASE_URL']) return { kind: 'url' };
      if (await haveImages(say)) return { kind: 'containers' };
      return { kind: 'embedded', redis: true, why: 'no container engine with the images' };
    default:
      throw new Error(`NIGHTSHIFT_TEST_SERVICES is ${forced}: use containers, embedded, url or no-redis`);
  }
}

async function haveImages(say: (line: string) => void): Promise<boolean> {
  const missing = await missingImages();
  if (missing === null) return false;
  if (missing.length === 0) return true;
  say(`pulling ${missing.join(' and ')} …`);
  return pullImages(missing);
}
