/**
 * The API reference: the OpenAPI document as a web page. Script, style and document come from this process; the page
 * cannot call other hosts. It needs a key if the API does. The OpenAPI document does not include it. The files are those
 * of Swagger UI's Fastify plugin; loading the plugin itself takes a tenth of the CPU of an API's start
 * (docs/decisions/0010-reference-page.md).
 */
import serveStatic from '@fastify/static';
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

/** Begins the page. The document is beside it. */
const SCRIPT = `window.onload = () => {
  const [page] = window.location.href.split(/[?#]/, 1);
  SwaggerUIBundle({
    dom_id: '#swagger-ui',
    url: page.replace(/\\/?$/, '/json'),
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [SwaggerUIBundle.plugins.DownloadUrl],
    layout: 'BaseLayout',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
  });
};
`;

/** `folder`: the files of Swagger UI. */
export async function serveDocs(app: App, folder: string): Promise<void> {
  await app.register(async (page) => {
    page.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'read', tokens: 'any' };
    });
    page.addHook('onSend', async (_, reply) => {
      reply.headers({
        'content-security-policy': POLICY,
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
    });
    answerRefusedFiles(page);
    const hidden = { schema: { hide: true } };
    page.get('/docs', hidden, async (_, reply) => reply.type('text/html; charset=utf-8').send(pageWith('docs/static')));
    page.get('/docs/', hidden, async (_, reply) => reply.type('text/html; charset=utf-8').send(pageWith('static')));
    page.get('/docs/json', hidden, async () => app.swagger());
    page.get('/docs/static/start.js', hidden, async (_, reply) =>
      reply.type('text/javascript; charset=utf-8').send(SCRIPT),
    );
    await page.register(serveStatic, {
      root: folder,
      prefix: '/docs/static/',
      index: false,
      decorateReply: false,
    });
  });
}

/** `files`: a path relative to the page, which may have any prefix behind a proxy. */
function pageWith(files: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Nightshift API reference</title>
<link rel="stylesheet" href="${files}/swagger-ui.css">
<link rel="stylesheet" href="${files}/index.css">
<link rel="icon" type="image/png" href="${files}/favicon-32x32.png" sizes="32x32">
<link rel="icon" type="image/png" href="${files}/favicon-16x16.png" sizes="16x16">
</head>
<body>
<div id="swagger-ui"></div>
<script src="${files}/swagger-ui-bundle.js"></script>
<script src="${files}/start.js"></script>
</body>
</html>
`;
}
