# The production image: the built package and its dependencies, nothing to build with, run by an account without
# rights. One image for every process: the command says which (api, worker, migrate).
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node build.ts \
 && npm prune --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/bin bin
COPY --from=build /app/dist dist
COPY --from=build /app/src/db/migrations src/db/migrations
COPY --from=build /app/node_modules node_modules
# A volume that is mounted here begins with this owner.
RUN install -d -o node -g node /workspaces
USER node
EXPOSE 3000
# Signals must reach the process itself, so that it drains before it ends.
ENTRYPOINT ["node", "/app/bin/nightshift.js"]
CMD ["api"]
