/**
 * The API reference: the OpenAPI document as a web page. Script, style and document come from this process; the page
 * cannot call other hosts. It needs a key if the API does. The OpenAPI document does not include it.
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
      theme: { title: 'Nightshift API reference' },
    });
  });
}
