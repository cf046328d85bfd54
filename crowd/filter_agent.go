package crowd

import "strings"

// AgentFilter keeps out visitors whose User-Agent contains one of a list of
// words, whatever the case. One without a User-Agent may come in.
type AgentFilter struct {
	words []string // in lower case
}

// NewAgentFilter returns a filter of User-Agents that contain one of words.
func NewAgentFilter(words []string) *AgentFilter {
	f := &AgentFilter{}
	for _, w := range words {
		if w = strings.ToLower(strings.TrimSpace(w)); w != "" {
			f.words = append(f.words, w)
		}
	}
	return f
}

// CrawlerAgents returns words by which the crawlers, previewers and monitors that
// run the scripts of a page make themselves known. Tools that people call an API
// with, such as curl, are not among them. "bot" stands only with what follows it
// in a crawler's name, because a phone may be a "CUBOT".
func CrawlerAgents() []string {
	return []string{
		"bot/", "bot;", "bot)", "bot-", "botx", "bots/", "crawler", "spider", "slurp",
		"+http://", "+https://", // the address of an explanation, by old custom
		"headlesschrome", "phantomjs", "chrome-lighthouse", "pagespeed", "gtmetrix", "pingdom",
		"google-inspectiontool", "googleother", "mediapartners-google", "adsbot", "apis-google",
		"bingpreview", "facebookexternalhit", "meta-externalagent", "whatsapp/", "skypeuripreview",
		"embedly", "quora link preview", "vkshare", "w3c_validator", "archive.org_bot", "prerender",
		"uptimerobot", "statuscake", "site24x7", "datadogsynthetics", "newrelicpinger", "cypress/",
	}
}

// Allow implements [Filter].
func (f *AgentFilter) Allow(v Visitor) bool {
	if v.UserAgent == "" {
		return true
	}
	agent := strings.ToLower(v.UserAgent)
	for _, w := range f.words {
		if strings.Contains(agent, w) {
			return false
		}
	}
	return true
}
