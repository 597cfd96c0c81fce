{{- define "prdigest.name" -}}
{{- printf "%s" .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{- define "prdigest.selector" -}}
app.kubernetes.io/name: prdigest
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "prdigest.labels" -}}
{{ include "prdigest.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "prdigest.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* a value of a setting; Helm reads each number as a float, and would write the id of a GitHub App as 1.2e+07 */ -}}
{{- define "prdigest.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) -}}
{{ printf "%.0f" . }}
{{- else -}}
{{ toString . }}
{{- end -}}
{{- end -}}

{{- /* what the schema of values could refuse, but not in sentences; no value is named */ -}}
{{- define "prdigest.check" -}}
{{- $secrets := list "GITHUB_TOKEN" "GITHUB_APP_PRIVATE_KEY" "ANTHROPIC_API_KEY" "PRDIGEST_MODEL_KEY" "SLACK_BOT_TOKEN" "SLACK_APP_TOKEN" "SLACK_SIGNING_SECRET" "PRDIGEST_MCP_TOKEN" -}}
{{- range $name, $value := .Values.settings -}}
{{- if has $name $secrets -}}
{{- fail (printf "settings.%s is a secret: put it into the Secret that existingSecret names, not into values." $name) -}}
{{- end -}}
{{- if has $name (list "PORT" "PRDIGEST_LISTEN_HOST" "PRDIGEST_METRICS_ADDRESS") -}}
{{- fail (printf "settings.%s is set by the chart: leave it out." $name) -}}
{{- end -}}
{{- end -}}
{{- if not .Values.existingSecret -}}
{{- fail "existingSecret is empty: set it to the name of a Secret with SLACK_BOT_TOKEN, SLACK_APP_TOKEN, GITHUB_TOKEN, ANTHROPIC_API_KEY and REDIS_URL." -}}
{{- end -}}
{{- if not .Values.settings.PRDIGEST_REPO -}}
{{- fail "settings.PRDIGEST_REPO is empty: set it to the repository to read, such as owner/name." -}}
{{- end -}}
{{- end -}}
