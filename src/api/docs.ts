/**
 * The reference page: the OpenAPI document in a browser. Script, style and document come from this process, and the page
 * may ask nobody else. Asked for as everything else: with a key, where there are keys. Being for people, it is not in the
 * document itself.
 */
import swaggerUi from '@fastify/swagger-ui';
import { answerRefusedFiles } from './files.ts';
import type { App } from './ports.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export async function serveDocs(app: App): Promise<void> {
  await app.register(async (page) => {
    page.addHook('onSend', async (_, reply) => {
      reply.headers({
        'content-security-policy': POLICY,
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
    });
    answerRefusedFiles(page);
    await page.register(swaggerUi, {
      routePrefix: '/docs',
      uiConfig: {
        layout: 'BaseLayout',
        deepLinking: true,
        docExpansion: 'list',
        defaultModelsExpandDepth: 0,
      },
      theme: { title: 'Nightshift: reference' },
    });
  });
}
