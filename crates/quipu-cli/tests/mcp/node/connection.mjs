// How a check reaches the server with the official TypeScript clients. The package `sdk` speaks 2025-11-25, and
// the package `client` that follows it speaks 2026-07-28; both are made to look alike here.

import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client as SessionClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as SessionStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as SessionHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const UPDATED = "notifications/resources/updated";
// A loaded machine is slow; a server that hangs is found all the same.
export const PATIENCE = { timeout: 60_000 };

/// The way that the command line names: `GENERATION --url URL [KEY]` or `GENERATION COMMAND…`.
export function wayFrom([generation, ...rest]) {
  if (rest[0] === "--url") {
    const headers = rest[2] ? { Authorization: `Bearer ${rest[2]}` } : {};
    return { generation, url: new URL(rest[1]), headers };
  }
  return { generation, command: rest[0], args: rest.slice(1) };
}

/// Runs `use` with a client that calls itself `name`; `updated` hears of resources that changed.
export async function connected(way, name, use, updated = () => {}) {
  const modern = way.generation === "2026-07-28";
  const [Client, Http, Stdio] = modern
    ? [ModernClient, ModernHttp, ModernStdio]
    : [SessionClient, SessionHttp, SessionStdio];
  const client = new Client({ name, version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  client.setNotificationHandler(modern ? UPDATED : ResourceUpdatedNotificationSchema, (told) =>
    updated(told.params.uri),
  );
  const transport = way.url
    ? new Http(way.url, { requestInit: { headers: way.headers } })
    : new Stdio({ command: way.command, args: way.args, stderr: "inherit" });
  await client.connect(transport, PATIENCE);
  try {
    await use(client);
  } finally {
    await transport.terminateSession?.();
    await client.close();
  }
}
