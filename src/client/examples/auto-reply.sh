#!/bin/sh
# Answers each mail with a text of its own. AMS_URL, AMS_TOKEN; the argument is the text.
set -eu
export REPLY="${1:-Thank you. We will answer within a day.}"

# What the sender wrote is in variables, which the shell does not run: quote them all the same.
exec ams listen --exec '
  echo "Answering $AMS_FROM: $AMS_SUBJECT"
  ams reply "$AMS_MESSAGE_ID" "$REPLY" > /dev/null
'
