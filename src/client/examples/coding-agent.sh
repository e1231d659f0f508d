#!/bin/sh
# Gives each message of somebody who may instruct the agent to a coding agent, and sends back what it says. AMS_URL, AMS_TOKEN;
# the argument is its command, which reads a task from standard input: 'codex exec -' or 'claude -p'.
set -eu
export TURN="${1:-codex exec -}"

# The key makes a turn that is repeated after a crash send nothing twice.
exec ams listen --exec '
  test "$AMS_MAY_INSTRUCT" = true || exit 0
  answer=$(ams read "$AMS_MESSAGE_ID" | sh -c "$TURN")
  ams reply --key "turn-$AMS_EVENT_ID" "$AMS_MESSAGE_ID" -- "$answer" > /dev/null
'
