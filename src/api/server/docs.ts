/**
 * The API reference: the OpenAPI document as a web page. Script, style and document come from this process; the page
 * cannot call other hosts. It needs a key if the API does. The OpenAPI document does not include it. Few processes are
 * asked for it: the page is an application of its own, made at its first request.
 */
import swagger from '@fastify/swagger';
import { fastify, type FastifyInstance, type HTTPMethods } from 'fastify';
import { answerRefusedFiles, notThere } from './files.ts';
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

const SAFELY = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export async function serveDocs(app: App): Promise<void> {
  let made: Promise<FastifyInstance> | null = null;
  app.addHook('onClose', async () => (await made)?.close());
  for (const url of ['/docs', '/docs/*']) {
    app.get(url, { schema: { hide: true } }, async (request, reply) => {
      made ??= makePage(app);
      const page = await made;
      const method: HTTPMethods = request.method === 'HEAD' ? 'HEAD' : 'GET';
      const { statusCode, headers, rawPayload } = await page.inject({
        method,
        url: request.url,
        headers: request.headers,
      });
      return reply
        .code(statusCode)
        .headers({ ...headers, ...SAFELY })
        .send(rawPayload);
    });
  }
}

async function makePage(app: App): Promise<FastifyInstance> {
  const { default: swaggerUi } = await import('@fastify/swagger-ui');
  const page = fastify();
  answerRefusedFiles(page);
  page.setNotFoundHandler((_, reply) => notThere(reply));
  await page.register(swagger, { openapi: {}, transformObject: () => app.swagger() });
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
  return page;
}
