# The image has the packed service and what it needs to run, and compiles nothing.
ARG NODE_IMAGE=docker.io/library/node:22-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
# Named in /healthz, metrics and logs: docker build --build-arg COMMIT=$(git rev-parse --short=12 HEAD) .
ARG COMMIT=
RUN COMMIT=$COMMIT npm pack --pack-destination /tmp

FROM ${NODE_IMAGE}
WORKDIR /opt/agent-messaging
COPY --from=build /tmp/agent-messaging-service-*.tgz /tmp/
RUN npm install --omit=dev --no-audit --no-fund /tmp/agent-messaging-service-*.tgz \
  && rm -rf /tmp/*.tgz /root/.npm \
  && useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin ams \
  && mkdir /data && chown ams:ams /data
ENV NODE_ENV=production DATA_DIR=/data HOST=0.0.0.0 SMTP_HOST=0.0.0.0
USER ams
VOLUME /data
EXPOSE 4000 2525
HEALTHCHECK --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:4000/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/opt/agent-messaging/node_modules/agent-messaging-service/dist/main.js"]
